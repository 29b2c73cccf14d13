"""Every predictor meets the golden file, and a fault of one of them shows."""

import json

import numpy as np
import pytest

from craftmaps._rows import randomness
from craftmaps.export.c_text import source_part
from craftmaps.export.packing import packed, unpacked
from tests.export import compiled_c, models
from tests.export.golden import NAMES, TIES, golden, golden_models
from tests.export.javascript import BROWSER, MiniRacer
from tests.export.predictors import PREDICTORS, deviation
from tests.export.test_recipe import plain_of

# Python and JavaScript have double precision; what is left of it behind kernel values of landmarks is less.
EXACT = {"Python": 1e-12, "JavaScript": 1e-10}
ROUNDED = 2e-6


def tolerance(predictor, name):
    is_rough = name in models.IS_ROUGH
    return EXACT.get(predictor, ROUNDED) * (1000 if is_rough else 1)


@pytest.mark.parametrize("name", [*NAMES, TIES])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_scores(predictor, name, monkeypatch):
    assert deviation(predictor, golden_models()[name], None, monkeypatch) < tolerance(predictor, name)


@pytest.mark.parametrize("fault", ["sign", "permutation", "factor"])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_faults_show(predictor, fault, monkeypatch):
    assert deviation(predictor, golden_models()["craft"], fault, monkeypatch) > 100 * tolerance(predictor, "craft")


def _with_rolled_scores(recipe):
    table = recipe["steps"][0]
    table["scores"] = packed(np.roll(unpacked(table["scores"]), 1), "float64")


def _with_other_columns(recipe):
    recipe["linear"]["n_steps"] = 0


@pytest.mark.parametrize("change", [_with_rolled_scores, _with_other_columns])
@pytest.mark.parametrize("predictor", PREDICTORS)
def test_tables_and_linear_columns_matter(predictor, change, monkeypatch):
    name = "linear columns, quantile"
    model = golden_models()[name]
    change(model["recipe"])
    assert deviation(predictor, model, None, monkeypatch) > 100 * tolerance(predictor, name)


@pytest.mark.parametrize("name", ["craft", "craft stratified", "tensorsketch of odd width", "regressor"])
def test_seeds_draw_the_same_maps(name):
    plain, expected = plain_of(models.fitted(name)), golden_models()[name]["recipe"]
    assert plain["down"] == expected["down"]
    for field in ("seed", "width", "n_columns", "order", "parts", "degree", "counts"):
        assert plain["features"].get(field) == expected["features"].get(field)


def test_random_streams_in_python():
    file = golden()
    words, signs, permutations, integers = (file[name] for name in ("words", "signs", "permutations", "integers"))
    seed = int(words["seed"])
    assert [hex(word) for word in randomness.raw_words(seed, "rows", 9)] == words["values"]
    assert randomness.signs(seed, "signs", (130,)).tolist() == signs["values"]
    assert randomness.permutations(seed, "rows", 2, 13).tolist() == permutations["values"]
    assert randomness.integers(seed, "shifts", (5,), 1000).tolist() == integers["values"]


@pytest.mark.skipif(MiniRacer is None, reason="mini-racer is not installed")
def test_random_streams_in_javascript():
    from craftmaps.export.scripts import small_script, web_file

    file, context = golden(), MiniRacer()
    context.eval(BROWSER + small_script(web_file("arrays.js") + web_file("random.js")))
    seed = file["words"]["seed"]
    script = f"""JSON.stringify((() => {{
      const w = words('{seed}', 'rows', 9), p = permutations('{seed}', 'rows', 2, 13);
      const hex = (i) => '0x' + (BigInt(w.hi[i]) << 32n | BigInt(w.lo[i])).toString(16);
      return [Array.from(w.hi, (_, i) => hex(i)), Array.from(signs('{seed}', 130)),
        [Array.from(p.slice(0, 13)), Array.from(p.slice(13))], Array.from(integers('{seed}', 'shifts', 5, 1000))];
    }})())"""
    expected = [file[name]["values"] for name in ("words", "signs", "permutations", "integers")]
    assert json.loads(context.eval(script)) == expected


@pytest.mark.skipif(compiled_c.COMPILER is None, reason="there is no C compiler")
def test_random_streams_in_c(tmp_path):
    import subprocess

    file = golden()
    seed = file["words"]["seed"]
    (tmp_path / "words.c").write_text(
        f"""#include <stdint.h>\n#include <stdio.h>\n{source_part("random.h")}
        int main(void) {{
          craft_stream s; uint8_t bits[17];
          craft_open(&s, UINT64_C({seed}), "rows");
          for (int i = 0; i < 9; i++) printf("0x%llx\\n", (unsigned long long)craft_next(&s));
          craft_draw_signs(bits, UINT64_C({seed}), 130);
          for (int i = 0; i < 130; i++) printf("%d\\n", (int)craft_signed(bits, i, 1));
          craft_open(&s, UINT64_C({seed}), "shifts");
          for (int i = 0; i < 5; i++) printf("%u\\n", craft_below(&s, 1000));
          return 0;
        }}"""
    )
    program = tmp_path / "words"
    subprocess.run([compiled_c.COMPILER, *compiled_c.STRICT, tmp_path / "words.c", "-o", program], check=True)
    lines = subprocess.run([program], capture_output=True, text=True).stdout.split()
    assert lines[:9] == file["words"]["values"]
    assert [int(line) for line in lines[9:139]] == file["signs"]["values"]
    assert [int(line) for line in lines[139:]] == file["integers"]["values"]


def test_the_permutation_of_ties_has_some():
    model = golden_models()[TIES]["recipe"]["features"]
    words = randomness.raw_words(int(model["seed"]), "rows", model["order"])
    upper = words >> np.uint64(32)
    assert (np.argsort(upper, kind="stable") != np.argsort(words, kind="stable")).any()
