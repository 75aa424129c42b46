/** The version that every Holdfast process says it has. */
export const holdfastVersion = "0.1.0"
