// Most cases wait for sockets and programs: with one thread a core, cores stand still.
[assembly: CollectionBehavior(MaxParallelThreads = 3)]
