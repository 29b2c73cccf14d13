// A form with a field for every cell of a row, or one field for all where they are many.
const isLong = FIELDS.length > 80, OTHER = '\u0000';

function fieldOf(c, i) {
  const id = 'f' + i, on = { id, oninput: guess };
  let field;
  if (c.kind === 'one-hot' || c.kind === 'boolean') {
    const values = c.kind === 'boolean' ? ['true', 'false'] : c.values.filter((v) => v !== null);
    const options = values.map((v) => new Option(v, v));
    // A text that no value has, and a missing one.
    if (c.kind === 'one-hot') options.push(new Option('another value', OTHER));
    field = element('select', on, ...options, new Option('missing', ''));
  } else field = element('input', { ...on, inputMode: c.kind === 'number' ? 'decimal' : 'text', autocomplete: 'off' });
  const isFilled = c.fill !== null && c.fill !== undefined;
  if (c.kind === 'number' && isFilled) field.placeholder = 'missing: ' + +c.fill.toPrecision(4);
  if (c.kind === 'date') field.placeholder = '2020-01-31 23:59';
  return element('label', { htmlFor: id }, element('span', { textContent: c.name }), field);
}

function guess() {
  try {
    const cells = isLong ? $('all').value.split(/[\s,;]+/).filter(Boolean) : FIELDS.map((_, i) => $('f' + i).value);
    const n = FIELDS.length;
    if (cells.length !== n) throw new Error('There must be ' + n + ' values, got ' + cells.length + '.');
    show(rowOf(cells));
  } catch (error) {
    refuse(error.message);
  }
}

const title = FIELDS.length + ' values, with commas between them', area = { id: 'all', rows: 6, oninput: guess };
$('form').append(...isLong
  ? [element('label', { htmlFor: 'all' }, element('span', { textContent: title }), element('textarea', area))]
  : FIELDS.map(fieldOf));
$('form').onsubmit = (e) => e.preventDefault();
refuse('');
