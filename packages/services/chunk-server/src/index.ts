/** The chunk server: devices, the data path, reports and commands. */
export {}
