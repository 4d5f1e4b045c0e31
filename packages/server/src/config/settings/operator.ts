import { text } from '../parsers/basic.ts'
import { apiKey } from '../parsers/keys.ts'
import { setting } from './setting.ts'

export const operatorSettings = {
  BERTH_API_KEY: setting({
    default: '',
    shownDefault: 'a random one',
    parse: apiKey,
    help: 'The first organisation key, read at the first start only. It is neither printed nor left in a file. At least 24 characters when listening beyond loopback.',
  }),
  BERTH_OPERATOR_ID: setting({
    default: 'operator',
    parse: text,
    help: 'Id of the creator shown on the first key and on keys made with it.',
  }),
  BERTH_OPERATOR_NAME: setting({
    default: 'Operator',
    parse: text,
    help: 'Name of that creator.',
  }),
  BERTH_OPERATOR_EMAIL: setting({
    default: 'operator@example.com',
    parse: text,
    help: 'E-mail address of that creator.',
  }),
}
