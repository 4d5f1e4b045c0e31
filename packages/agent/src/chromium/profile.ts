// Writes a profile as Chromium leaves it after its first run, so that the first run is skipped. An
// existing profile belongs to the session and stays unchanged.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROFILE_DIRECTORY, TABS_DIRECTORY } from '@berth/contracts/profile-archive'
import { pathExists } from '../user/path-exists.ts'

const PREFERENCES = {
  // Otherwise Chromium asks the vendor about the network when a page cannot be reached.
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
  // 5: a new tab, not the previous ones.
  session: { restore_on_startup: 5 },
  signin: { allowed: false },
  translate: { enabled: false },
}

const LOCAL_STATE = {
  browser: { enabled_labs_experiments: [] },
  user_experience_metrics: { reporting_enabled: false },
}

/** A killed Chromium leaves these; the next one would complain that the profile is in use. */
const LOCKS = ['SingletonLock', 'SingletonCookie', 'SingletonSocket']

export function prepareProfile(directory: string): void {
  mkdirSync(join(directory, PROFILE_DIRECTORY), { recursive: true })
  for (const lock of LOCKS) rmSync(join(directory, lock), { force: true })
  writeMissing(join(directory, 'First Run'), '')
  writeMissing(join(directory, 'Local State'), JSON.stringify(LOCAL_STATE))
  writeMissing(join(directory, PROFILE_DIRECTORY, 'Preferences'), JSON.stringify(PREFERENCES))
}

/** Whether the profile has tabs to restore. */
export function areTabsIn(directory: string): boolean {
  try {
    return readdirSync(join(directory, PROFILE_DIRECTORY, TABS_DIRECTORY)).length > 0
  } catch {
    return false
  }
}

function writeMissing(path: string, content: string): void {
  if (!pathExists(path)) writeFileSync(path, content)
}
