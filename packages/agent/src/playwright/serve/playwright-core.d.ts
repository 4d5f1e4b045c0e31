// The parts of Playwright's own server that are not in its public types. From 1.61 on they are all in this file.
declare module 'playwright-core/lib/coreBundle' {
  /** Waits without a limit and tells nobody. */
  interface Progress {
    readonly race: unknown
  }

  export interface ServedBrowser {
    readonly options: { sdkLanguage?: string }
    close(progress: Progress, options: { reason: string }): Promise<void>
    on(event: 'disconnected', listener: () => void): void
  }

  export interface ServedPlaywright {
    readonly chromium: {
      /** `isLocal`: files of the server are files of the browser, too. */
      connectOverCDP(
        progress: Progress,
        options: { endpointURL: string; isLocal: boolean },
      ): Promise<ServedBrowser>
    }
  }

  class DispatcherConnection {
    onmessage: (message: object) => void
    dispatch(message: object): Promise<void>
  }

  class RootDispatcher {
    constructor(
      connection: DispatcherConnection,
      initialize: (scope: RootDispatcher, params: { sdkLanguage: string }) => Promise<object>,
    )
    stopPendingOperations(error: Error): Promise<void>
  }

  export const server: {
    createPlaywright(options: { sdkLanguage: string; isServer: boolean }): ServedPlaywright
    readonly nullProgress: Progress
    readonly DispatcherConnection: typeof DispatcherConnection
    readonly RootDispatcher: typeof RootDispatcher
    readonly PlaywrightDispatcher: new (
      scope: RootDispatcher,
      playwright: ServedPlaywright,
      options: { preLaunchedBrowser: ServedBrowser; sharedBrowser: boolean; denyLaunch: boolean },
    ) => object
  }

  export const registry: {
    readonly registry: {
      findExecutable(name: string): { executablePath(): string | undefined } | undefined
    }
  }
}
