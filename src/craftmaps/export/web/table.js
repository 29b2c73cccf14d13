// Rows of a table, by the rule of its columns. A list is as many fields as it is wide.
const FIELDS = recipe.columns.features.flatMap((c) => c.kind !== 'list' ? [c] : Array.from({ length: c.width },
  (_, i) => ({ name: c.name + '_' + i, kind: 'number', fill: c.fill && c.fill[i] })));
const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)? ?(?:Z|[-+]\d\d:?\d\d)?)?$/;
const MISSING = ['', '#N/A', 'N/A', 'NA', 'NULL', 'NaN', 'None', 'n/a', 'nan', 'null', '-NaN', '-nan', '<NA>', '?'];

function dateParts(text, c) {
  const found = DATE.exec(text.trim());
  if (!found) throw new Error(c.name + ' must be a date such as 2020-01-31, got ' + text.slice(0, 40) + '.');
  const [year, month, day, hour, minute, second] = found.slice(1).map((v) => Number(v || 0));
  const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
  return c.values.map((part) => ({ year, month, day, weekday, hour, minute, second })[part]);
}

// A text as one signed entry of 64; no text has the byte 255, which stands for a missing one.
function hashed(text) {
  const h = fnv1a(text === null ? [255] : new TextEncoder().encode(text));
  const folded = Number((h ^ h >> 20n ^ h >> 40n) & 127n);
  return Array.from({ length: 64 }, (_, i) => i === folded % 64 ? 1 - 2 * (folded >> 6) : 0);
}

function featuresOf(cell, c) {
  const isMissing = MISSING.includes(cell);
  if (c.kind === 'one-hot') return c.values.map((v) => +(v === (isMissing ? null : cell)));
  if (c.kind === 'hashed') return hashed(isMissing ? null : cell);
  if (isMissing) {
    if (c.fill === null || c.fill === undefined) throw new Error(c.name + ' is empty: a value is expected.');
    return [c.fill].flat();
  }
  if (c.kind === 'date') return dateParts(cell, c);
  const truth = ['false', 'true'].indexOf(cell.trim().toLowerCase());
  return [c.kind === 'boolean' && truth >= 0 ? truth : numberIn(cell, c.name)];
}

function rowOf(cells) {
  return cells.flatMap((cell, i) => featuresOf(cell, FIELDS[i]));
}

function cellsOf(header) {
  const places = FIELDS.map((c) => header.indexOf(c.name)), lost = FIELDS.filter((_, i) => places[i] < 0);
  if (lost.length) throw new Error('The file lacks the column ' + lost.map((c) => c.name).slice(0, 5).join(', ') + '.');
  return { isHeader: true, pick: (cells) => places.map((p) => cells[p] ?? '') };
}
