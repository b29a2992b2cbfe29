// What the tests ask a page in the browser. A value of the last expression is an object of functions.
({
  // Texts with less contrast to what is behind them than `least`, as WCAG 2.2 counts it.
  faint(least) {
    const numbers = (color) => color.match(/[\d.]+/g).map(Number);
    const light = (color) => {
      const [red, green, blue] = numbers(color).slice(0, 3).map((each) => each / 255)
        .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const seen = (color) => color !== "none" && (numbers(color)[3] ?? 1) > 0;
    const behind = (element) => {
      const rect = element.closest("g.node")?.querySelector("rect");
      if (rect && element.closest("svg")) return getComputedStyle(rect).fill;
      for (let each = element; each; each = each.parentElement) {
        const color = getComputedStyle(each).backgroundColor;
        if (seen(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      const text = walk.currentNode.data.trim();
      if (!text || element.closest("script, title")) continue;
      const style = getComputedStyle(element);
      const [one, other] = [light(element.closest("svg") ? style.fill : style.color), light(behind(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (ratio < least) found.push(`${ratio.toFixed(2)} ${element.tagName} ${element.className.baseVal ?? element.className}: ${text}`);
    }
    return [...new Set(found)];
  },
  // Nodes that overlap, and texts that leave their node or that a node covers.
  crowded() {
    const box = (element) => element.getBoundingClientRect();
    const meet = (one, other) =>
      one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
    const nodes = [...document.querySelectorAll("svg g.node")];
    const rects = nodes.map((each) => box(each.querySelector("rect")));
    const found = [];
    rects.forEach((one, index) => rects.slice(index + 1).forEach((other) => meet(one, other) && found.push("nodes overlap")));
    nodes.forEach((node, index) => {
      for (const text of node.querySelectorAll("text")) {
        const [own, all] = [box(text), rects[index]];
        if (own.left < all.left || own.right > all.right || own.top < all.top - 1 || own.bottom > all.bottom + 1) found.push(text.textContent);
      }
    });
    for (const label of document.querySelectorAll("svg .label"))
      if (rects.some((each) => meet(box(label), each))) found.push(label.textContent);
    return found;
  },
  // Elements that a keyboard has to reach and that `reach` has not marked.
  unreached() {
    const wanted = [...document.querySelectorAll("a[href], summary, input, [tabindex]")];
    return wanted.filter((each) => !each.dataset.reached).map((each) => each.outerHTML.slice(0, 120));
  },
  // Marks the element in focus; says whether it is a closed `details`, and null at the end of the page.
  reach() {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    element.dataset.reached = "yes";
    const ring = getComputedStyle(element);
    if (ring.outlineStyle === "none") element.dataset.ringless = "yes";
    return element.tagName === "SUMMARY" && !element.parentElement.open;
  },
  open() {
    for (const each of document.querySelectorAll("details")) each.open = true;
  },
})
