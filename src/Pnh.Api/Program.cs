Console.WriteLine("pnh");
