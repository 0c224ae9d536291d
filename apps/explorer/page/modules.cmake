# In the order of their imports: each names only modules above it.
set(modules
  model/codec.mjs model/engine_module.mjs model/engine.mjs model/answer.mjs model/document.mjs model/points.mjs
  source/server.mjs
  view/format.mjs view/dom.mjs view/figure.mjs view/charts.mjs view/markup.mjs view/palette.mjs view/rows.mjs view/strip.mjs view/timeline.mjs
  view/shown_run.mjs view/answer.mjs view/what_ifs.mjs view/details.mjs view/stack.mjs
  explorer.mjs comparison.mjs sweep.mjs main.mjs)
