// The software with which the login engine was built.
import type { Software } from './software.ts'
import { djangoAdmin } from './software/django-admin.ts'
import { dokuwiki } from './software/dokuwiki.ts'
import { jupyter } from './software/jupyter.ts'
import { nodeRed } from './software/node-red.ts'
import { verdaccio } from './software/verdaccio.ts'

export const software: readonly Software[] = [verdaccio, nodeRed, jupyter, djangoAdmin, dokuwiki]
