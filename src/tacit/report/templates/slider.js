document.querySelectorAll(".tacit .slider[hidden]").forEach(function (box) {
  var points = JSON.parse(box.dataset.points);
  var range = box.querySelector("input");
  var fields = box.querySelectorAll("[data-field]");
  var dots = box.parentNode.querySelectorAll("circle[data-k]");
  function move() {
    var point = points[range.value];
    fields.forEach(function (field) { field.textContent = point[field.dataset.field]; });
    dots.forEach(function (dot) { dot.classList.toggle("here", dot.dataset.k === range.value); });
    range.setAttribute("aria-valuetext", "epsilon " + point[0] + ", loss " + point[2]);
  }
  range.addEventListener("input", move);
  box.hidden = false;
  move();
});
