// A profile as Chromium would have left it after its first run, so that there is no first run. One
// that is there already belongs to the session and is left as it is.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROFILE_DIRECTORY, TABS_DIRECTORY } from '@berth/contracts/profile-archive'

const PREFERENCES = {
  // Would ask the vendor whether there is a network when a page cannot be reached.
  alternate_error_pages: { enabled: false },
  browser: { check_default_browser: false, has_seen_welcome_page: true },
  credentials_enable_service: false,
  profile: {
    content_settings: {},
    exit_type: 'Normal',
    exited_cleanly: true,
    name: 'Person 1',
    password_manager_enabled: false,
    password_manager_leak_detection: false,
  },
  search: { suggest_enabled: false },
  // 5: a new tab, not what was open before.
  session: { restore_on_startup: 5 },
  signin: { allowed: false },
  translate: { enabled: false },
}

const LOCAL_STATE = {
  browser: { enabled_labs_experiments: [] },
  user_experience_metrics: { reporting_enabled: false },
}

/** Left by a Chromium that was killed; the next one would ask who else uses the profile. */
const LOCKS = ['SingletonLock', 'SingletonCookie', 'SingletonSocket']

export function prepareProfile(directory: string): void {
  mkdirSync(join(directory, PROFILE_DIRECTORY), { recursive: true })
  for (const lock of LOCKS) rmSync(join(directory, lock), { force: true })
  writeMissing(join(directory, 'First Run'), '')
  writeMissing(join(directory, 'Local State'), JSON.stringify(LOCAL_STATE))
  writeMissing(join(directory, PROFILE_DIRECTORY, 'Preferences'), JSON.stringify(PREFERENCES))
}

/** Whether there is anything to restore. */
export function areTabsIn(directory: string): boolean {
  try {
    return readdirSync(join(directory, PROFILE_DIRECTORY, TABS_DIRECTORY)).length > 0
  } catch {
    return false
  }
}

function writeMissing(path: string, content: string): void {
  if (!existsSync(path)) writeFileSync(path, content)
}
