# Scripts of pages, each of its modules in the order of their imports: each names only modules above it.
set(page_script
  model/codec.mjs model/engine_module.mjs model/engine.mjs model/answer.mjs model/asked.mjs model/document.mjs model/layers.mjs
  source/server.mjs
  view/format.mjs view/dom.mjs source/drop.mjs source/asking.mjs view/figure.mjs view/markup.mjs view/palette.mjs view/rows.mjs view/strip.mjs
  view/paper.mjs view/tracks.mjs view/memory_curve.mjs view/overlays.mjs view/pointer.mjs view/timeline.mjs view/area.mjs view/search.mjs view/added.mjs
  view/link.mjs view/shown_run.mjs view/answer.mjs view/what_ifs.mjs view/details.mjs view/selection.mjs view/cards.mjs view/stack.mjs view/scrolls.mjs
  explorer.mjs comparison.mjs begin.mjs main.mjs)
set(sweep_script
  model/codec.mjs model/points.mjs view/format.mjs view/dom.mjs view/paper.mjs view/charts.mjs view/crosshair.mjs view/axis_names.mjs view/sweep_link.mjs view/scrolls.mjs
  sweep.mjs begin.mjs main_sweep.mjs)
