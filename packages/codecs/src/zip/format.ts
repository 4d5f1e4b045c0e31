// The format of zip archives (APPNOTE.TXT 6.3), for reading and writing.

export const signatures = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  central: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const

/** Lengths of the fixed parts. */
export const lengths = { local: 30, central: 46, end: 22, end64: 56, locator64: 20 } as const

export const flags = { encrypted: 0x0001, descriptor: 0x0008, strong: 0x0040, utf8: 0x0800, masked: 0x2000 }

export const methods = { stored: 0, deflated: 8 } as const

export const ZIP64_EXTRA = 0x0001
export const MADE_BY_UNIX = 3

/** A 16 or 32 bit field with all bits set means that the real number is elsewhere. */
export const FULL_16 = 0xffff
export const FULL_32 = 0xffffffff

export const fileKinds = { mask: 0o170000, directory: 0o040000, file: 0o100000, link: 0o120000 } as const

// Loaded at first use: it is seldom needed, and takes a megabyte in every instance.
export const zlib = () => process.getBuiltinModule('node:zlib')
