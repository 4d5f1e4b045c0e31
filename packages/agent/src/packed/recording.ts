// Viewers get video from the encoder of recordings, so one bundle has both.
export { recordingHandlers } from '../recording/handlers.ts'
export { watchDisplay } from '../screen/display-viewer.ts'
