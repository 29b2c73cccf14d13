// Files of comma-separated values: dropped in, predicted a piece at a time, and given back as one.
// Predictions of a file as lines of another one; `tell` hears how many rows are done.
async function predictFile(text, tell) {
  const out = [labels ? 'prediction,probability' : 'prediction'], rows = [];
  let columns = null, number = 0;
  const flush = () => predict(rows.splice(0)).forEach(({ text: answer, best, p, numbers }) =>
    out.push(p ? quoted(answer) + ',' + p[best].toFixed(6) : numbers.join(',')));
  for (const cells of linesOf(text)) {
    number++;
    if (!columns) {
      columns = cellsOf(cells);
      if (columns.isHeader) continue;
    }
    try {
      rows.push(rowOf(columns.pick(cells)));
    } catch (error) {
      throw new Error('Line ' + number + ': ' + error.message);
    }
    if (rows.length === 256) {
      flush();
      tell(out.length - 1);
      await new Promise((done) => setTimeout(done));
    }
  }
  flush();
  return out;
}

async function takeFile(file) {
  const told = $('told'), link = $('save');
  link.hidden = true;
  try {
    const started = performance.now(), tell = (n) => { told.textContent = n + (n === 1 ? ' row' : ' rows'); };
    const out = await predictFile(await file.text(), tell), n = out.length - 1;
    tell(n);
    told.textContent += ' in ' + ((performance.now() - started) / 1000).toFixed(2) + ' s.';
    link.href = URL.createObjectURL(new Blob([out.join('\n') + '\n'], { type: 'text/csv' }));
    link.hidden = !n;
  } catch (error) {
    told.textContent = error.message;
  }
}

$('file').onchange = (e) => { if (e.target.files[0]) takeFile(e.target.files[0]); };
document.ondragover = (e) => e.preventDefault();
document.ondrop = (e) => {
  e.preventDefault();
  if (e.dataTransfer.files[0]) takeFile(e.dataTransfer.files[0]);
};
