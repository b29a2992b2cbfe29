"""The review as one HTML page.

`dagre.min.js` is `dist/dagre.min.js` of the npm package `@dagrejs/dagre` 3.1.3 without its last two lines, which are
comments with the names of files that are not here. It is under the MIT licence in `dagre.LICENSE.txt`. It only computes
where the nodes of the graph stand.
"""
