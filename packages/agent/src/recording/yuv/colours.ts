// BT.709 in its narrow range: what blue, green and red weigh, in 256ths, in the order of a display's bytes, the
// fourth of which is not used.

export const LUMA = [16, 157, 47, 0]
export const BLUE = [112, -86, -26, 0]
export const RED = [-10, -102, 112, 0]

/** Luma of black, and either colour of grey. */
export const BLACK = 16
export const GREY = 128
