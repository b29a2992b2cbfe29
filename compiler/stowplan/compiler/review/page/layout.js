// Reads {nodes: {id: [width, height]}, edges: [[start, end, label width]]} and writes where nodes and edges are.
const fs = require("fs");
const path = require("path");
require("vm").runInThisContext(fs.readFileSync(path.join(__dirname, "dagre.min.js"), "utf8"));

const given = JSON.parse(fs.readFileSync(0, "utf8"));
const graph = new dagre.graphlib.Graph();
graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 56, marginx: 12, marginy: 12 });
graph.setDefaultEdgeLabel(() => ({}));
for (const [id, [width, height]] of Object.entries(given.nodes)) graph.setNode(id, { width, height });
for (const [start, end, width] of given.edges) graph.setEdge(start, end, { width, height: width ? 16 : 0, labelpos: "c" });
dagre.layout(graph);

const round = (number) => Math.round(number * 10) / 10;
const { width, height } = graph.graph();
const nodes = {};
for (const id of graph.nodes()) nodes[id] = [round(graph.node(id).x), round(graph.node(id).y)];
const edges = given.edges.map(([start, end]) => {
  const { points, x, y } = graph.edge(start, end);
  return { points: points.map((each) => [round(each.x), round(each.y)]), label: x === undefined ? null : [round(x), round(y)] };
});
process.stdout.write(JSON.stringify({ width: round(width || 0), height: round(height || 0), nodes, edges }));
