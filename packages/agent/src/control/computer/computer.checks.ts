import {
  batchComputerActions,
  captureScreenshot,
  clickMouse,
  dragMouse,
  moveMouse,
  pressKey,
  scroll,
  setCursorVisibility,
  typeText,
  writeClipboard,
} from '@berth/contracts/computer'
import { checksOf } from '../../checks/compile.ts'

// Lengths count what they count on the server, so that no body passes there and fails here.
export const checks = checksOf(
  {
    batchComputerActions: batchComputerActions.body,
    captureScreenshot: captureScreenshot.body,
    clickMouse: clickMouse.body,
    dragMouse: dragMouse.body,
    moveMouse: moveMouse.body,
    pressKey: pressKey.body,
    scroll: scroll.body,
    setCursorVisibility: setCursorVisibility.body,
    typeText: typeText.body,
    writeClipboard: writeClipboard.body,
  },
  { lengths: 'characters' },
)
