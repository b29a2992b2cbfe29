"""The review as one HTML page.

`dagre.min.js` is the file of that name in the npm package `@dagrejs/dagre` 3.1.3, under the MIT licence in
`dagre.LICENSE.txt`. It only computes where the nodes of the graph stand.
"""
