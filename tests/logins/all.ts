// All software that the script installs. The login engine was developed with the first group; the second group was added
// when its rules were finished, to show that they are general.
import type { Software } from './software.ts'
import { djangoAdmin } from './software/django-admin.ts'
import { dokuwiki } from './software/dokuwiki.ts'
import { fossil } from './software/fossil.ts'
import { homebridge } from './software/homebridge.ts'
import { jupyter } from './software/jupyter.ts'
import { mediawiki } from './software/mediawiki.ts'
import { nodeRed } from './software/node-red.ts'
import { qbittorrent } from './software/qbittorrent.ts'
import { rabbitmq } from './software/rabbitmq.ts'
import { verdaccio } from './software/verdaccio.ts'

const builtWith = [verdaccio, nodeRed, jupyter, djangoAdmin, dokuwiki]
const metLater = [mediawiki, fossil, rabbitmq, qbittorrent, homebridge]

export const software: readonly Software[] = [...builtWith, ...metLater]
