// Renders charts with cdk8s. A request is one line of JSON: a list of charts, each with the namespace and the labels that it
// gives to its objects. `own` is the chart itself, and `cluster` the chart in it for objects without a namespace: an id,
// `objects` as pairs of a construct id and the head of a manifest, and `parts`, constructs of the same form. The response
// is one line of JSON: for each chart the rendered heads of both, in the same order, or a string that says why cdk8s refused.
'use strict';

const { ApiObject, App, Chart, JsonPatch } = require('cdk8s');
const { Construct } = require('constructs');

// One App for each chart: cdk8s processes the whole App for each chart that it renders.
function build({ namespace, labels, own, cluster }) {
  const chart = filled(new Chart(new App(), own.id, { namespace: namespace || undefined, labels }), own);
  const charts = [chart];
  if (cluster.objects.length || cluster.parts.length) charts.push(filled(new Chart(chart, 'cluster', { labels }), cluster));
  return charts;
}

function filled(scope, { objects, parts }) {
  for (const [id, head] of objects) add(scope, id, head);
  for (const part of parts) filled(new Construct(scope, part.id), part);
  return scope;
}

// What cdk8s would drop or refuse comes as a patch. Labels that do so take the place of the chart's, and so have these too.
function add(scope, id, { apiVersion, kind, metadata }) {
  const entries = Object.entries(metadata);
  const given = Object.fromEntries(entries.filter(isPlain));
  const added = new ApiObject(scope, id, { apiVersion, kind, metadata: given });
  for (const [key, value] of entries.filter((entry) => !isPlain(entry))) {
    const whole = key === 'labels' ? { ...Chart.of(scope).labels, ...value } : value;
    added.addJsonPatch(JsonPatch.add(`/metadata/${step(key)}`, whole));
  }
}

function isPlain([key, value]) {
  if (key === 'labels' || key === 'annotations') return Object.keys(value).length > 0 && !Object.hasOwn(value, 'constructor');
  return key === 'name' || key === 'namespace';
}

// A key as a step of a JSON pointer (RFC 6901).
function step(key) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function render(spec) {
  try {
    const [chart, cluster] = build(spec);
    return [chart.toJson(), cluster ? cluster.toJson() : []];
  } catch (error) {
    return String(error);
  }
}

function respond(request) {
  return JSON.stringify(JSON.parse(request).map(render));
}

function serve() {
  let parts = [];
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = chunk.split('\n');
    while (lines.length > 1) {
      process.stdout.write(`${respond([...parts, lines.shift()].join(''))}\n`);
      parts = [];
    }
    parts.push(lines[0]);
  });
}

// The class that jsii calls in its Node.js process.
class Composition {
  static respond(request) {
    return respond(request);
  }
}

if (require.main === module) serve();
else module.exports = { build, Composition };
