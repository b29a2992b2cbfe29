// Renders specs by cdk8s. Each line of standard input is a spec: the id of its chart, its name, and its objects with
// their construct ids. Each line of standard output is the objects of one, in the same order: a JSON list with sorted
// keys, or a JSON text that says why cdk8s refused them.
'use strict';

const { ApiObject, App, Chart, JsonPatch } = require('cdk8s');
const { Construct } = require('constructs');

const LINE_END = 10;

// As `ManifestSet` does it in Python: what cdk8s would change in a field comes as a patch.
function build(spec) {
  const chart = new Chart(new App(), spec.chart);
  const set = new Construct(chart, spec.name);
  spec.objects.forEach((object, index) => add(set, spec.ids[index], object));
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

function answer(line) {
  try {
    return build(JSON.parse(line)).toJson().map(withSortedKeys);
  } catch (error) {
    return String(error);
  }
}

function serve() {
  let rest = [];
  process.stdin.on('data', (chunk) => {
    const answers = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      answers.push(JSON.stringify(answer(Buffer.concat([...rest, chunk.subarray(start, end)]))), '\n');
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    if (answers.length) process.stdout.write(answers.join(''));
  });
}

if (require.main === module) serve();
else module.exports = { build };
