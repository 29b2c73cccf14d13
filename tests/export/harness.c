/* Rows of floats from standard input, scores or numbers as doubles to standard output, as many as there are. */
#include <stdio.h>
#include CRAFT_MODEL

int main(void) {
  static float row[CRAFT_FEATURES];
  static craft_result result[CRAFT_OUTPUTS];
  craft_init();
  while (fread(row, sizeof row, 1, stdin) == 1) {
    double found = craft_predict(row, result);
    fwrite(&found, sizeof found, 1, stdout);
    for (int i = 0; i < CRAFT_OUTPUTS; i++) {
      double value = result[i];
      fwrite(&value, sizeof value, 1, stdout);
    }
  }
  return 0;
}
