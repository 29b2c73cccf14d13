// The page: what all pages have. Text from a model is only ever set as text.
const $ = (id) => document.getElementById(id);
const data = JSON.parse($('model').textContent), model = loadModel(data.recipe), { recipe } = model;
try {
  model.fast = data.simd ? loadSimd(model, bytesOf(data.simd)) : null;
} catch {
  model.fast = null;
}
const labels = recipe.classes && recipe.classes.labels.map(String), percent = (p) => (100 * p).toFixed(1) + '\u00a0%';

function say(id, text) {
  $(id).textContent = text;
}

function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// Answers to rows: a label and the probabilities of all, or numbers.
function predict(rows) {
  return outputsOf(model, rows).map((outputs) => {
    if (!labels) return { text: outputs.map((v) => String(+v.toPrecision(6))).join(', '), numbers: outputs };
    const scores = scoresOf(recipe, outputs), best = scores.indexOf(max(...scores));
    return { text: labels[best], best, p: probabilitiesOf(recipe, scores) };
  });
}

// Up to twelve classes keep their places; of more, the ten most likely are shown.
function drawBars(p, best) {
  let order = p.map((_, i) => i);
  if (p.length > 12) order = order.sort((a, b) => p[b] - p[a]).slice(0, 10);
  const bars = $('bars');
  while (bars.children.length < order.length)
    bars.append(element('li', {}, element('span'), element('div', {}, element('i')), element('span')));
  order.forEach((c, i) => {
    const [name, bar, value] = bars.children[i].children;
    bars.children[i].className = c === best ? 'best' : '';
    name.textContent = labels[c];
    value.textContent = best === undefined ? '' : percent(p[c]);
    bar.firstChild.style.width = 100 * p[c] + '%';
  });
}

function show(row) {
  const started = performance.now(), [{ text, best, p }] = predict([row]), ms = performance.now() - started;
  say('problem', '');
  say('answer', text);
  say('sure', p ? percent(p[best]) : '');
  say('time', (ms < .1 ? 'under 0.1' : ms.toFixed(1)) + ' ms, ' + (model.fast ? 'WebAssembly' : 'JavaScript'));
  if (p) drawBars(p, best);
}

// Show no answer, and perhaps why.
function refuse(message) {
  say('problem', message);
  say('answer', '\u2013');
  say('sure', '');
  say('time', '');
  if (labels) drawBars(labels.map(() => 0));
}
