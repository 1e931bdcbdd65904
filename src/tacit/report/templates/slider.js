document.querySelectorAll(".tacit .slider[hidden]").forEach(function (box) {
  var points = JSON.parse(box.dataset.points);
  var rows = JSON.parse(box.dataset.rows || "[]");
  var range = box.querySelector("input");
  var fields = box.parentNode.querySelectorAll("[data-field]");
  var cells = box.parentNode.querySelectorAll("td[data-row]");
  var dots = box.parentNode.querySelectorAll("circle[data-k]");
  function move() {
    var point = points[range.value];
    var told = rows[range.value] || [];
    fields.forEach(function (field) { field.textContent = point[field.dataset.field]; });
    cells.forEach(function (cell) {
      var whole = cell.title = told[cell.dataset.row][cell.cellIndex - 1];
      cell.textContent = whole.length > 60 ? whole.slice(0, 59) + "…" : whole;
    });
    dots.forEach(function (dot) { dot.classList.toggle("here", dot.dataset.k === range.value); });
    range.setAttribute("aria-valuetext", "epsilon " + point[0] + ", " + box.dataset.what + " " + point[2]);
  }
  range.addEventListener("input", move);
  box.hidden = false;
  move();
});
