// The software with which the login engine was built, and software that it met when its rules were done.
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
