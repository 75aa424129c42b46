/** The KPL aggregated record format, both ways, by the rules of the KCL. */
export {}
