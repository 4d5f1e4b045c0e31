// Runs while the image is built: makes the system that instances see, of the packages that the image has.
import { makeSystem } from '../lib/system/system.mjs'

const more = (process.env.BERTH_INSTANCE_PACKAGES ?? '').split(/[\s,]+/).filter(Boolean)
makeSystem({ checkout: '/opt/berth', more, say: (text) => console.log(text) })
