const field = document.getElementById("filter");
field.parentElement.hidden = false;
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const each of document.querySelectorAll("#objects > details")) {
    const text = each.querySelector("summary").textContent.toLowerCase();
    each.hidden = !words.every((word) => text.includes(word));
  }
});
