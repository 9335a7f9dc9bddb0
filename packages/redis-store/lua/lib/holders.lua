-- Faktory workers that hold leases. One that is there counts as gone when none of its leases can stand any more: none is longer
-- than a day, or extended by more than that.
Holders.leasesSeconds = 172800
