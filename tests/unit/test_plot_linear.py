"""Figures of linear models: units, names of outputs, frequencies beside eigenvalues."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError


def carriage():
    """Two masses on springs over a road that is driven, and a motor beside."""
    model = da.Model(plane="xz", name="carriage")
    for name, mass, z in (("road", 1.0, 0.0), ("wheel", 20.0, 0.3), ("body", 200.0, 0.8)):
        model.add_body(name, mass=mass, inertia=1.0, position=(0, z))
        model.add_prismatic(f"{name} guide", "ground", name, point=(0, z), axis=(0, 1))
    model.add_driver("profile", "road guide", 0.0)
    model.add_motor("push", "body guide", 0.0)
    model.add_spring_damper("tyre", "road", "wheel", points=((0, 0), (0, 0)), stiffness=2e5, length=0.31)
    model.add_spring_damper("spring", "wheel", "body", points=((0, 0), (0, 0)), stiffness=2e4, damping=1e3, length=0.6)
    return model


def travel(s):
    return s.signal("body.z") - s.signal("wheel.z")


@pytest.fixture(scope="module")
def linear():
    model = carriage()
    outputs = ["body guide", travel, ("travel [m]", travel), "spring", ("effort", "spring"), ("reaction", "road guide")]
    return da.linearise(model, da.equilibrium(model), inputs=["profile", "push"], outputs=[*outputs, "wheel.vz", "body.x"])


def test_outputs_have_names_and_units(linear):
    assert linear.output_names[:5] == ("body guide", "travel", "travel", "spring", "effort(spring)")
    assert linear.output_units == ("m", "", "m", "N", "N", *3 * ("N",), *3 * ("N m",), "m/s", "m")
    assert linear.input_units == ("m", "N")
    np.testing.assert_allclose(linear.C[3], linear.C[4], rtol=1e-9)
    np.testing.assert_array_equal(linear.C[1], linear.C[2])


def test_bode_has_a_panel_for_each_unit_and_the_name_of_the_model(linear):
    figure = linear.plot.bode()
    assert figure.get_suptitle() == "carriage: response to profile [m]"
    labels = ["amplitude [m / m]", "amplitude per m", "amplitude [N / m]", "amplitude [m/s / m]", "phase [deg]"]
    assert [ax.get_ylabel() for ax in figure.axes] == labels  # what does not move has no panel
    names = [[line.get_label() for line in ax.get_lines()] for ax in figure.axes[:-1]]
    assert names == [
        ["body guide", "travel"],
        ["travel"],
        ["spring", "effort(spring)"],
        ["wheel.vz"],
    ]
    above = [line.get_color() for ax in figure.axes[:-1] for line in ax.get_lines()]
    assert above == [line.get_color() for line in figure.axes[-1].get_lines()] and len(set(above)) == len(above)
    ax = linear.plot.bode(input="push", output="body guide").axes[0]
    assert ax.get_ylabel() == "amplitude [m / N]" and ax.get_lines()[0].get_ydata()[0] > 0
    with pytest.raises(ModelError, match="bode: nothing follows 'push'; give input= one of the others, or other outputs"):
        linear.plot.bode(input="push", output="body.x")


def test_eigenvalues_have_frequencies_that_touch_nothing(linear):
    figure = linear.plot.eigenvalues()
    assert figure.get_suptitle() == "carriage: stable"
    ax = figure.axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["decays"]
    told = [f"{f:.3g} Hz, {100 * d:.2g} %" for f, d in zip(linear.frequencies, linear.damping_ratios, strict=True)]
    assert [text.get_text() for text in ax.texts] == told and len(told) == 2
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    points = ax.transData.transform([[value.real, value.imag] for value in linear.eigenvalues])
    for box in boxes:
        assert ax.get_window_extent().x0 < box.x0 and box.x1 < ax.get_window_extent().x1
        assert not any(box.contains(*point) for point in points)
    assert not boxes[0].overlaps(boxes[1])


def test_what_neither_grows_nor_decays_stays():
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (0, -1), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    ax = da.linearise(model).plot.eigenvalues().axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["stays"]
    assert [text.get_text() for text in ax.texts] == ["0.611 Hz, 0 %"]


def test_linear_models_save_figures_as_runs_do(linear, tmp_path):
    linear.plot.save(tmp_path / "bode.png", linear.plot.bode())
    assert (tmp_path / "bode.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(TypeError, match=r"save takes the path, then a figure: plot\.save\('figure\.png', plot\.bode\(\)\)"):
        linear.plot.save(linear.plot.bode(), tmp_path / "bode.png")


def test_outputs_that_are_none_are_told():
    model = carriage()
    at = da.equilibrium(model)
    with pytest.raises(ModelError, match=r"output 'wheel.q': there is no signal 'wheel.q'; .*position"):
        da.linearise(model, at, outputs=["wheel.q"])
    with pytest.raises(ModelError, match=r"output 3: give a signal by name, .*\(\"travel \[m\]\", function\)"):
        da.linearise(model, at, outputs=[3])
