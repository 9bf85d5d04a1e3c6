/** The views that change objects, in a chunk of their own. */
export { DeleteView } from './delete-view.js';
export { EditView } from './edit-view.js';
export { NewView } from './new-view.js';
