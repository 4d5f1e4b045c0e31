// Starts Scalar on this server's own OpenAPI document. Everything in it that would ask another server is off: fonts,
// telemetry, the request proxy, the chat, and the links to its own services.

interface Scalar {
  createApiReference(target: string, configuration: Readonly<Record<string, unknown>>): unknown
}

const { Scalar: scalar } = window as unknown as { Scalar: Scalar }

scalar.createApiReference('#reference', {
  url: '/openapi.json',
  servers: [{ url: window.location.origin, description: 'This server' }],
  authentication: { preferredSecurityScheme: 'bearer' },
  // A key that was typed in is forgotten when the page is closed.
  persistAuth: false,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  // Light or dark as the device is set, like every other page.
  hideDarkModeToggle: true,
  hideClientButton: true,
  showOperationId: true,
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})
