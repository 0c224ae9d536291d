// Figures with their place in the document of the answer: a test walks over the page and compares each.
import { make } from './dom.mjs';

/** `at`: a JSON pointer, or what follows from several ("/a to /b"); or where else it comes from. */
export const figureAt = (at, text, tag = 'span') => make(tag, { 'data-at': at }, text);
export const strongAt = (at, text) => figureAt(at, text, 'b');
