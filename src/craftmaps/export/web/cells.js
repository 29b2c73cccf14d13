// A number as people write it, or an error in words.
function numberIn(text, name) {
  const plain = String(text).trim(), value = Number(data.decimal ? plain.replace(',', '.') : plain);
  if (!plain) throw new Error(name + ' is empty: a number is expected.');
  if (!Number.isFinite(value)) throw new Error(name + ' must be a finite number, got ' + plain.slice(0, 40) + '.');
  return value;
}

// The lines of a file of comma-separated values, as cells; the mark between them is that which is most frequent.
function* linesOf(text) {
  const first = text.slice(0, text.indexOf('\n') + 1 || text.length);
  const comma = [',', ';', '\t'].sort((a, b) => first.split(b).length - first.split(a).length)[0];
  let cells = [''], isQuoted = false;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (isQuoted && c !== undefined) {
      if (c !== '"') cells[cells.length - 1] += c;
      else if (text[i + 1] === '"') { cells[cells.length - 1] += c; i++; } else isQuoted = false;
    } else if (c === '"') isQuoted = true;
    else if (c === comma) cells.push('');
    else if (c === '\n' || c === undefined) {
      if (cells.length > 1 || cells[0].trim()) yield cells;
      cells = [''];
    } else if (c !== '\r') cells[cells.length - 1] += c;
  }
}

const quoted = (text) => /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
