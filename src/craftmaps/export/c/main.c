/* Predict rows of comma-separated numbers from standard input:

     cc -std=c99 -O2 -DCRAFT_MODEL='"model.h"' main.c -lm -o predict
     ./predict < rows.csv

   A first line that is no row of numbers is taken for a header. */
#include <stdio.h>
#include <stdlib.h>

#ifndef CRAFT_MODEL
#define CRAFT_MODEL "model.h"
#endif
#include CRAFT_MODEL

/* Read a line into a row; return how many numbers it has, -1 at the end of the file, -2 if a cell is no number. */
static int read_row(float *row) {
  char cell[64];
  int n = 0, length = 0, c, is_bad = 0, is_empty = 1;
  do {
    c = getchar();
    if (c == EOF && is_empty) return -1;
    if (c == ',' || c == '\n' || c == EOF) {
      char *end;
      cell[length] = 0;
      if (n < CRAFT_FEATURES) {
        row[n] = strtof(cell, &end);
        is_bad |= end == cell || *end;
      }
      n++;
      length = 0;
    } else if (c != '\r' && c != ' ' && length < (int)sizeof cell - 1) {
      cell[length++] = (char)c;
    }
    is_empty = 0;
  } while (c != '\n' && c != EOF);
  return is_bad ? -2 : n;
}

int main(void) {
  static float row[CRAFT_FEATURES];
  static craft_result result[CRAFT_OUTPUTS];
  int n;
  craft_init();
  for (long line = 1; (n = read_row(row)) != -1; line++) {
    if (n == -2 && line == 1) continue;
    if (n == -2) return fprintf(stderr, "Line %ld must have numbers alone.\n", line), 1;
    if (n != CRAFT_FEATURES)
      return fprintf(stderr, "Line %ld must have %d numbers, got %d.\n", line, CRAFT_FEATURES, n), 1;
    int found = craft_predict(row, result);
    if (found < 0) return fprintf(stderr, "Line %ld must have finite numbers.\n", line), 1;
#if CRAFT_IS_CLASSIFIER
    static float probability[CRAFT_OUTPUTS];
    craft_probabilities(result, probability);
    printf("%s,%.6f\n", craft_label[found], (double)probability[found]);
#else
    for (int i = 0; i < CRAFT_OUTPUTS; i++) printf(i ? ",%.9g" : "%.9g", result[i]);
    printf("\n");
#endif
  }
  return 0;
}
