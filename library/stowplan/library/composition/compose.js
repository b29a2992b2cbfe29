// Renders specs by cdk8s. Two lines of standard input are a spec: the id of its chart, its name and the construct ids
// of its objects; and these objects, a JSON list with sorted keys. One line of standard output is the answer: nothing
// where cdk8s renders what was sent, character by character; else the objects that it renders, in the same order; or
// a JSON text that says why cdk8s refused them.
'use strict';

const { isAscii } = require('buffer');
const { readSync, writeSync } = require('fs');
const { ApiObject, App, Chart, JsonPatch } = require('cdk8s');
const { Construct } = require('constructs');

const LINE_END = 10;
const FIRST_SIZE = 1 << 17; // of what is read and not yet answered

// As `ManifestSet` does it in Python: what cdk8s would change in a field comes as a patch.
function build(spec, objects) {
  const chart = new Chart(new App(), spec.chart);
  const set = new Construct(chart, spec.name);
  objects.forEach((object, index) => add(set, spec.ids[index], object));
  return chart;
}

function add(set, id, { apiVersion, kind, metadata, ...fields }) {
  const plain = {};
  const patches = [];
  for (const [key, value] of Object.entries(metadata)) {
    if (isPlain(key, value)) plain[key] = value;
    else patches.push(JsonPatch.add(`/metadata/${step(key)}`, value));
  }
  for (const [key, value] of Object.entries(fields)) patches.push(JsonPatch.add(`/${step(key)}`, value));
  new ApiObject(set, id, { apiVersion, kind, metadata: plain }).addJsonPatch(...patches);
}

function isPlain(key, value) {
  if (key === 'name' || key === 'namespace') return true;
  const labels = key === 'labels' || key === 'annotations';
  return labels && Object.keys(value).length > 0 && !Object.hasOwn(value, 'constructor');
}

// A key as a step of a JSON pointer (RFC 6901).
function step(key) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

// cdk8s sorts all keys but the outermost.
function withSortedKeys(object) {
  const sorted = {};
  for (const key of Object.keys(object).sort()) sorted[key] = object[key];
  return sorted;
}

function answer(spec, objects) {
  try {
    const rendered = JSON.stringify(build(JSON.parse(spec), JSON.parse(objects)).toJson().map(withSortedKeys));
    return rendered === objects ? '' : rendered;
  } catch (error) {
    return JSON.stringify(String(error));
  }
}

// The lines of standard input, all that have come at a time. Read at once, without the events of a stream: there is
// nothing else to do, and every one of them costs.
function* lines() {
  let buffer = Buffer.allocUnsafe(FIRST_SIZE);
  let length = 0;
  for (let count = read(buffer, length); count > 0; count = read(buffer, length)) {
    const known = length;
    length += count;
    const filled = buffer.subarray(0, length);
    const found = [];
    let start = 0;
    for (let end = filled.indexOf(LINE_END, known); end >= 0; end = filled.indexOf(LINE_END, start)) {
      found.push(text(filled.subarray(start, end)));
      start = end + 1;
    }
    if (found.length) yield found;
    if (start === 0 && length === buffer.length) buffer = Buffer.concat([buffer], 2 * length);
    else buffer.copy(buffer, 0, start, length);
    length -= start;
  }
}

function read(buffer, length) {
  try {
    return readSync(0, buffer, length, buffer.length - length);
  } catch (error) {
    if (error.code === 'EOF') return 0; // how Windows says that a pipe has ended
    throw error;
  }
}

function text(line) {
  return isAscii(line) ? line.latin1Slice() : line.utf8Slice();
}

function write(answers) {
  const bytes = Buffer.from(answers.join(''));
  for (let start = 0; start < bytes.length; ) start += writeSync(1, bytes, start);
}

function serve() {
  let spec = null;
  for (const found of lines()) {
    const answers = [];
    for (const line of found) {
      if (spec !== null) answers.push(answer(spec, line), '\n');
      spec = spec === null ? line : null;
    }
    write(answers);
  }
}

if (require.main === module) serve();
else module.exports = { build };
