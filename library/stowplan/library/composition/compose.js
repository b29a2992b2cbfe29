// Renders charts with cdk8s. A request is one line of JSON: a list of charts, each with the id of the chart, the name
// of the construct in it, the heads of the manifests (`objects`) and the construct ids of these. The response is one line
// of JSON: for each chart its rendered objects in the same order, or a string that says why cdk8s refused it.
'use strict';

const { ApiObject, App, Chart, JsonPatch } = require('cdk8s');
const { Construct } = require('constructs');

// One App for each chart: cdk8s processes the whole App for each chart that it renders.
function build(spec) {
  const chart = new Chart(new App(), spec.chart);
  const set = new Construct(chart, spec.name);
  spec.objects.forEach((object, index) => add(set, spec.ids[index], object));
  return chart;
}

// Everything but the identity comes as a patch: cdk8s drops empty fields from what its constructor gets.
function add(set, id, { apiVersion, kind, metadata: { name, namespace, ...metadata } }) {
  const added = new ApiObject(set, id, { apiVersion, kind, metadata: { name, namespace } });
  for (const [key, value] of Object.entries(metadata)) added.addJsonPatch(JsonPatch.add(`/metadata/${step(key)}`, value));
}

// A key as a step of a JSON pointer (RFC 6901).
function step(key) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function render(spec) {
  try {
    return build(spec).toJson();
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
