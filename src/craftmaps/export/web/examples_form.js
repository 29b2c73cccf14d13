// A date from its parts.
function dateText({ year, month, day, hour, minute, second }) {
  const two = (v) => String(v ?? 0).padStart(2, '0'), time = [hour, minute, second].map(two).join(':');
  const date = year + '-' + two(month || 1) + '-' + two(day || 1);
  return year === undefined ? '' : hour === undefined ? date : date + ' ' + time;
}

// Back from features to fields, where that can be done.
function fill(row) {
  if (isLong) {
    $('all').value = Array.from(row).join(', ');
    return;
  }
  let at = 0;
  FIELDS.forEach((c, i) => {
    const width = c.kind === 'hashed' ? 64 : c.values ? c.values.length : 1;
    const part = Array.from(row.slice(at, at + width));
    if (c.kind === 'one-hot') $('f' + i).value = part.includes(1) ? c.values[part.indexOf(1)] ?? '' : OTHER;
    else if (c.kind === 'boolean') $('f' + i).value = part[0] ? 'true' : 'false';
    else if (c.kind === 'date')
      $('f' + i).value = dateText(Object.fromEntries(c.values.map((name, j) => [name, part[j]])));
    else if (c.kind === 'number') $('f' + i).value = +part[0].toPrecision(7);
    at += width;
  });
}

addExamples(fill, (_, i) => String(i));
if (examples.length) {
  fill(examples[0]);
  show(examples[0]);
}
