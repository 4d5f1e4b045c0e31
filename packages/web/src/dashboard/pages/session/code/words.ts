// What `page`, `context`, `browser` and locators offer in Playwright.
const split = (words: string) => words.trim().split(/\s+/)

const locator = split(`
  all allInnerTexts allTextContents and blur boundingBox check clear click count dblclick dispatchEvent dragTo evaluate
  evaluateAll fill filter first focus frameLocator getAttribute getByAltText getByLabel getByPlaceholder getByRole
  getByTestId getByText getByTitle hover innerHTML innerText inputValue isChecked isDisabled isEditable isEnabled
  isHidden isVisible last locator nth or press pressSequentially screenshot scrollIntoViewIfNeeded selectOption
  selectText setChecked setInputFiles tap textContent uncheck waitFor`)

const page = split(`
  accessibility addInitScript addLocatorHandler addScriptTag addStyleTag bringToFront check clearConsole click close
  content context coverage dblclick dispatchEvent dragAndDrop emulateMedia evaluate evaluateHandle exposeBinding
  exposeFunction fill focus frame frameLocator frames getAttribute getByAltText getByLabel getByPlaceholder getByRole
  getByTestId getByText getByTitle goBack goForward goto hover innerHTML innerText inputValue isChecked isClosed
  isDisabled isEditable isEnabled isHidden isVisible keyboard locator mainFrame mouse off on once opener pdf press
  reload request requestGC route screenshot selectOption setChecked setContent setDefaultNavigationTimeout
  setDefaultTimeout setExtraHTTPHeaders setInputFiles setViewportSize tap textContent title touchscreen uncheck
  unroute url video viewportSize waitForEvent waitForFunction waitForLoadState waitForRequest waitForResponse
  waitForSelector waitForTimeout waitForURL workers`)

export const wordsOf: Readonly<Record<string, readonly string[]>> = {
  page,
  context: split(`
    addCookies addInitScript backgroundPages browser clearCookies clearPermissions close cookies exposeBinding
    exposeFunction grantPermissions newCDPSession newPage off on once pages request route serviceWorkers
    setDefaultNavigationTimeout setDefaultTimeout setExtraHTTPHeaders setGeolocation setOffline storageState tracing
    unroute waitForEvent`),
  browser: split(
    `browserType close contexts isConnected newBrowserCDPSession newContext newPage off on once version`,
  ),
  locator,
  keyboard: split('down insertText press type up'),
  mouse: split('click dblclick down move up wheel'),
}

export const names = split('page context browser await return const async')
