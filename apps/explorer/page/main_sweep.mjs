// Brings the page of a sweep to life.
import { inflate } from './model/codec.mjs';
import { byId } from './view/dom.mjs';
import { begin } from './begin.mjs';
import { SweepPage } from './sweep.mjs';

begin(async () => new SweepPage(JSON.parse(new TextDecoder().decode(await inflate(byId('block-facts').textContent)))));
