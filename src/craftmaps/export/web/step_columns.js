// Columns, centred and scaled.
STEPS.columns = (step) => {
  const subtract = numbersOf(step.subtract), divide = numbersOf(step.divide);
  return (x) => x.map((v, i) => (v - (subtract ? subtract[i] : 0)) / (divide ? divide[i] : 1));
};
