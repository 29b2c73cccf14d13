// Rows of numbers without names.
const FIELDS = Array.from({ length: recipe.n_features }, (_, i) => ({ name: 'x' + i, kind: 'number' }));

function rowOf(cells) {
  return cells.map((cell, i) => numberIn(cell, FIELDS[i].name));
}

// Which cells of a line are the features; undefined as a line that is no header.
function cellsOf(first) {
  const n = FIELDS.length, isHeader = first.some((cell) => cell.trim() && isNaN(cell.replace(',', '.')));
  return { isHeader, pick(cells) {
    if (cells.length === n + 1 && data.target !== null) cells = cells.filter((_, i) => i !== data.target);
    if (cells.length !== n) throw new Error('must have ' + n + ' numbers, got ' + cells.length + '.');
    return cells;
  } };
}
