"""See a run move: in the browser, in a notebook, as one HTML file, as an animation. Reads only `Solution`.

scene.py says what there is to draw, page.py puts it into a page, server.py follows a run while it is computed;
web/ is the page's own script, bundled with three.js and uPlot when the package is built (hatch_build.py).
"""
