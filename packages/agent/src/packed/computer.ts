// Viewers of a headless Chromium use most of the code behind mouse and keyboard, so one bundle has both.
export { computerHandlers } from '../control/computer/handlers.ts'
export { watchHeadless } from '../screen/headless-viewer.ts'
