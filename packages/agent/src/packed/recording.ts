// Viewers get video from the encoder of recordings, and small pictures come from the same copy of the screen, so one bundle
// has all of them.
export { previewHandlers } from '../preview/handlers.ts'
export { recordingHandlers } from '../recording/handlers.ts'
export { watchDisplay } from '../screen/display-viewer.ts'
