-- The operator's sum of the day reads the hours of the day, not each account that ever was.
create index usage_hours_by_hour on usage_hours (hour);
