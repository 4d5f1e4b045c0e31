// Sign-in providers, by their names on buttons.
import { fold, tokens } from './match.ts'

const names: readonly (readonly [provider: string, pattern: RegExp])[] = [
  ['google', /(?<![a-z])(google|gsi|gplus|g-?suite|g_id_signin)(?![a-z])/],
  [
    'microsoft',
    /(?<![a-z])(microsoft|azure|azuread|aad|office ?365|entra|msft|live ?id|windows ?live|outlook)(?![a-z])/,
  ],
  ['apple', /(?<![a-z])(apple|appleid|icloud)(?![a-z])/],
  ['facebook', /(?<![a-z])(facebook|fb|meta)(?![a-z])/],
  ['github', /(?<![a-z])github(?![a-z])/],
  ['gitlab', /(?<![a-z])gitlab(?![a-z])/],
  ['bitbucket', /(?<![a-z])bitbucket(?![a-z])/],
  ['linkedin', /(?<![a-z])linkedin(?![a-z])/],
  ['twitter', /(?<![a-z])twitter(?![a-z])|(?<=\b(with|mit|avec|con|com|met|med|via|ile) )x$/],
  ['amazon', /(?<![a-z])(amazon|cognito)(?![a-z])/],
  ['slack', /(?<![a-z])slack(?![a-z])/],
  ['discord', /(?<![a-z])discord(?![a-z])/],
  ['yahoo', /(?<![a-z])yahoo(?![a-z])/],
  ['okta', /(?<![a-z])okta(?![a-z])/],
  ['auth0', /(?<![a-z])auth ?0(?![a-z])/],
  ['onelogin', /(?<![a-z])onelogin(?![a-z])/],
  ['ping', /(?<![a-z])ping ?(one|identity|federate)?(?![a-z])/],
  ['keycloak', /(?<![a-z])keycloak(?![a-z])/],
  ['authentik', /(?<![a-z])authentik(?![a-z])/],
  ['dex', /(?<![a-z])dex(?![a-z])/],
  ['wechat', /(?<![a-z])we ?chat(?![a-z])|微信/],
  ['line', /(?<=\b(with|mit|で) )line(?![a-z])|lineで/],
  ['kakao', /(?<![a-z])kakao|카카오/],
  ['naver', /(?<![a-z])naver(?![a-z])|네이버/],
  ['vk', /(?<![a-z])(vk|vkontakte)(?![a-z])|вконтакте/],
  ['yandex', /(?<![a-z])yandex(?![a-z])|яндекс/],
  ['steam', /(?<![a-z])steam(?![a-z])/],
  ['twitch', /(?<![a-z])twitch(?![a-z])/],
  ['spotify', /(?<![a-z])spotify(?![a-z])/],
  ['paypal', /(?<![a-z])paypal(?![a-z])/],
  ['salesforce', /(?<![a-z])salesforce(?![a-z])/],
  ['dropbox', /(?<![a-z])dropbox(?![a-z])/],
  ['atlassian', /(?<![a-z])atlassian(?![a-z])/],
  ['saml', /(?<![a-z])saml(?: ?2)?(?![a-z])/],
  ['oidc', /(?<![a-z])(oidc|open ?id|openid connect|oauth ?2?)(?![a-z])/],
  [
    'sso',
    /(?<![a-z])(sso|single sign[ -]?on|enterprise login|company login|corporate login|shibboleth|institution|cas login)(?![a-z])/,
  ],
]

/** Finds a provider in visible text. */
export function providerIn(text: string): string | undefined {
  const folded = fold(text)
  return names.find(([, pattern]) => pattern.test(folded))?.[0]
}

/** Finds a provider in class names, files and addresses. These are less reliable, so ambiguous names are excluded. */
export function providerInNames(text: string): string | undefined {
  const split = tokens(text.slice(0, 600))
  return names.find(
    ([name, pattern]) => name !== 'twitter' && name !== 'ping' && name !== 'line' && pattern.test(split),
  )?.[0]
}
