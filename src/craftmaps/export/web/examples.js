// Rows that came with the page, as buttons that `use` a row and have a face.
const examples = [];
function addExamples(use, face) {
  const all = numbersOf(data.examples.rows), n = recipe.n_features;
  for (let at = 0; at < all.length; at += n) {
    const row = all.slice(at, at + n), truth = data.examples.labels, i = examples.push(row);
    const title = 'Example ' + i + (truth ? ', truth: ' + truth[i - 1] : ''), onclick = () => { use(row); show(row); };
    $('examples').append(element('button', { type: 'button', title, ariaLabel: title, onclick }, face(row, i)));
  }
}
