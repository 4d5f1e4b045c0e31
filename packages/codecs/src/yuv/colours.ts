// BT.709, limited range: the weights of blue, green and red in 256ths, in the order of a display's bytes.

export const LUMA = [16, 157, 47] as const
export const BLUE = [112, -86, -26] as const
export const RED = [-10, -102, 112] as const

/** Luma of black, and both chroma values of grey. */
export const BLACK = 16
export const GREY = 128
