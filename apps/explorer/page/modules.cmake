# In the order of their imports: each names only modules above it.
set(modules
  model/codec.mjs model/engine.mjs model/steps.mjs model/breakdown.mjs model/memory.mjs model/document.mjs
  view/format.mjs view/dom.mjs view/palette.mjs view/rows.mjs view/strip.mjs view/timeline.mjs
  view/answer.mjs view/what_ifs.mjs view/details.mjs main.mjs)
